// Packages of npm from where they are: the folder of the build, or this one after `npm ci`.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = join(dirname(fileURLToPath(import.meta.url)), '..');
const at = process.argv.indexOf('--packages');
const folders = [...(at > 0 ? [process.argv[at + 1]] : []), here];

/** The package, or null where it is not installed. */
export function load(name) {
  for (const folder of folders) {
    try {
      return createRequire(join(folder, 'x.js'))(name);
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  return null;
}
