// Numbers and units as people read them.

/** Four significant digits, without a row of zeros. */
export function number(x: number): string {
  if (!Number.isFinite(x)) return '–';
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (size >= 1e5 || size < 1e-4) return x.toExponential(2).replace('e+', 'e');
  return x.toPrecision(4);
}

const prefixes: [number, string][] = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, 'µ']];

/** 3800 N as "3.8 kN". */
export function withPrefix(x: number, unit: string): string {
  const [factor, prefix] = prefixes.find(([f]) => Math.abs(x) >= f) ?? prefixes[prefixes.length - 1];
  return `${Number((x / factor).toPrecision(2))} ${prefix}${unit}`;
}

/** "m/s^2" as "m/s²". */
export const unitText = (unit: string): string => unit.replaceAll('^2', '²').replaceAll('^3', '³').replaceAll(' ', '\u2009');

/** Digits after the point that tell rows of a run apart. */
export const timeDigits = (end: number): number => (end >= 100 ? 2 : end >= 1 || end <= 0 ? 3 : end >= 0.01 ? 5 : 7);
