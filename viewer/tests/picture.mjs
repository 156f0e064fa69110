// Pixels of a PNG as playwright writes it: 8 bits, RGB or RGBA, not interlaced.
import { inflateSync } from 'node:zlib';

export function readPng(file) {
  const width = file.readUInt32BE(16), height = file.readUInt32BE(20), channels = file[25] === 6 ? 4 : 3;
  const data = [];
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at))
    if (file.toString('latin1', at + 4, at + 8) === 'IDAT') data.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)));
  const raw = inflateSync(Buffer.concat(data)), stride = width * channels, pixels = Buffer.alloc(height * stride);
  for (let y = 0; y < height; ++y) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; ++x) {
      const left = x >= channels ? pixels[y * stride + x - channels] : 0;
      const up = y > 0 ? pixels[(y - 1) * stride + x] : 0;
      const corner = x >= channels && y > 0 ? pixels[(y - 1) * stride + x - channels] : 0;
      const p = left + up - corner, [a, b, c] = [left, up, corner].map((v) => Math.abs(p - v));
      const paeth = a <= b && a <= c ? left : b <= c ? up : corner;
      pixels[y * stride + x] = raw[y * (stride + 1) + 1 + x] + [0, left, up, (left + up) >> 1, paeth][filter];
    }
  }
  return { width, height, channels, pixels };
}

/** How many colours there are, at 4 bits a channel. */
export function countColours({ pixels, channels }) {
  const seen = new Set();
  for (let i = 0; i < pixels.length; i += channels) seen.add(((pixels[i] >> 4) << 8) | ((pixels[i + 1] >> 4) << 4) | (pixels[i + 2] >> 4));
  return seen.size;
}

/** The part of the pixels that differ by more than `by` in a channel. */
export function difference(one, other, by = 0) {
  let count = 0;
  for (let i = 0; i < one.pixels.length; i += one.channels)
    if ([0, 1, 2].some((k) => Math.abs(one.pixels[i + k] - other.pixels[i + k]) > by)) ++count;
  return count / (one.width * one.height);
}
