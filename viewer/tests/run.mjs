// node tests/run.mjs [--packages FOLDER] [--samples FOLDER] [--bundle viewer.html.gz]: all tests of the viewer. Those for
// which something is missing are skipped and counted.
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { folder } from './page.mjs';
import { Suite } from './suite.mjs';

const { values: options } = parseArgs({ options: { packages: { type: 'string' }, samples: { type: 'string' }, bundle: { type: 'string' } } });
const suite = new Suite();
try {
  const { formatTests } = await import('./format_tests.mjs');
  await formatTests(suite, options.samples);
  const { pageTests } = await import('./page_tests.mjs');
  await pageTests(suite, options.bundle);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`viewer: ${suite.passed} passed, ${suite.failed} failed, ${suite.skipped} skipped`);
process.exitCode = suite.failed > 0 ? 1 : 0;
