import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { LogDamaged } from '../errors.ts';

/**
 * Reads a compressed stream to its end, piece by piece, no faster than `read` takes the pieces.
 *
 * @throws LogDamaged when it is not gzip, or ends before its end; what the stream itself throws
 */
export async function decompress(
  compressed: AsyncIterable<Uint8Array>,
  read: (bytes: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  try {
    await pipeline(compressed, createGunzip(), read);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!code.startsWith('Z_')) throw error;
    throw new LogDamaged(`The file is no gzip file, or not a whole one (${code}): ${String(error)}`);
  }
}
