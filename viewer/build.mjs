// node build.mjs [--packages FOLDER] --output viewer.html.gz
// Bundles the viewer into one page: script and style inside, named by their SHA-256 in the content security policy.
// `trammel view` puts a title and data into the two places that are left. The same sources give the same bytes.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const { values: options } = parseArgs({
  options: { packages: { type: 'string', default: here }, output: { type: 'string' } },
});
const packages = resolve(options.packages, 'node_modules');
const { build } = createRequire(join(packages, 'x.js'))('esbuild');

async function bundle(entry, format) {
  const result = await build({
    entryPoints: [join(here, 'src', entry)],
    bundle: true,
    minify: true,
    format,
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    nodePaths: [packages],
    write: false,
    logLevel: 'warning',
  });
  return result.outputFiles[0].text;
}

// esbuild keeps only comments marked as legal, and uPlot's is not: both licences are put in by hand.
function licences() {
  return ['three', 'uplot'].map((name) => {
    const version = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')).version;
    return `/*! ${name} ${version}\n${readFileSync(join(packages, name, 'LICENSE'), 'utf8').trim()}\n*/`;
  });
}

const sha256 = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

// Text that would end the script's element, or begin a comment in it.
const inScript = (text) => text.replaceAll(/<(?=\/script|!--)/gi, '\\x3c');

const script = inScript([await bundle('main.ts', 'esm'), ...licences()].join('\n'));
const style = (await bundle('style.css')).trim();
const policy = [
  "default-src 'none'",
  `script-src ${sha256(script)}`,
  `style-src ${sha256(style)}`,
  'img-src data: blob:',
  'media-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const parts = { policy, style, script };
const page = readFileSync(join(here, 'src/page.html'), 'utf8').replaceAll(/\{\{(policy|style|script)\}\}/g, (_, key) => parts[key]);
for (const place of ['{{trammel-title}}', '{{trammel-data}}']) {
  if (page.split(place).length !== 2) throw new Error(`${place} must stand in the page once`);
}
mkdirSync(dirname(resolve(options.output)), { recursive: true });
const packed = gzipSync(page, { level: 9 });
writeFileSync(options.output, packed);
console.log(`viewer: ${Math.round(script.length / 1000)} kB script, ${Math.round(style.length / 1000)} kB style, ${Math.round(packed.length / 1000)} kB gzipped`);
