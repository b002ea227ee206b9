/** No line of a log is nearly as long; what is longer is no line, and is not kept in memory. */
const LONGEST_LINE = 16_384;

/** What becomes of a line that is too long. */
export const TOO_LONG = '';

/**
 * The lines of a stream of bytes, none longer than 16 KiB: for a longer one comes `TOO_LONG`. Decoded as Latin-1, which is fast
 * and splits at the same places as UTF-8 does: names of AWS resources are ASCII.
 */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
  let rest = '';
  let skipping = false;
  for await (const chunk of bytes) {
    const text = rest + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
    const end = text.lastIndexOf('\n');
    const lines = end < 0 ? [] : text.slice(0, end).split('\n');
    rest = text.slice(end + 1);
    if (skipping && lines.length > 0) {
      lines[0] = TOO_LONG;
      skipping = false;
    }
    if (rest.length > LONGEST_LINE || skipping) {
      skipping = true;
      rest = '';
    }
    yield lines.map(line => (line.length > LONGEST_LINE ? TOO_LONG : line));
  }
  if (skipping) yield [TOO_LONG];
  else if (rest !== '') yield [rest];
}
