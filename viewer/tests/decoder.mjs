// The page's own reader, made into a module for Node.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { load } from './packages.mjs';
import { folder } from './page.mjs';

const source = join(dirname(fileURLToPath(import.meta.url)), '../src');
const bundled = await load('esbuild').build({
  stdin: { contents: `export * from './trv1.ts'; export * from './run.ts';`, resolveDir: source, loader: 'ts' },
  bundle: true, format: 'esm', target: 'es2022', write: false,
});
const path = join(folder, 'decoder.mjs');
writeFileSync(path, bundled.outputFiles[0].text);
export const { BadView, Run, decode, openRun, unpack } = await import(pathToFileURL(path).href);
