// node tests/run.mjs [--packages FOLDER] [--samples FOLDER] [--bundle viewer.html.gz] [--command trammel]: all tests of the viewer. Those for
// which something is missing are skipped and counted.
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { folder } from './page.mjs';
import { Suite } from './suite.mjs';

const { values: options } = parseArgs({ options: { packages: { type: 'string' }, samples: { type: 'string' }, bundle: { type: 'string' }, command: { type: 'string' } } });
const suite = new Suite();
try {
  const { formatTests } = await import('./format_tests.mjs');
  await formatTests(suite, options.samples);
  const { pageTests } = await import('./page_tests.mjs');
  await pageTests(suite, options.bundle);
  const { liveTests } = await import('./live_tests.mjs');
  await liveTests(suite, options.command && resolve(options.command));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`viewer: ${suite.passed} passed, ${suite.failed} failed, ${suite.skipped} skipped`);
process.exitCode = suite.failed > 0 ? 1 : 0;
