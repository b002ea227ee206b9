import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { Picture, type Span } from '../../local/cli/picture.ts';

function open(size: { readonly columns: number; readonly rows: number }) {
  const stream = new PassThrough().setEncoding('utf8');
  const picture = new Picture(Object.assign(stream, size));
  onTestFinished(() => picture.close());
  return { picture, written: () => String(stream.read() ?? '') };
}

const lines = (...texts: readonly string[]): Span[][] => texts.map(text => [{ text }]);

test('a picture is drawn over the last one, within the width and the height of the terminal', () => {
  const { picture, written } = open({ columns: 10, rows: 3 });
  picture.draw(lines('first', 'a line that is too long', 'below the last row'));
  expect(written()).toBe('\x1b[?25lfirst\na line th\n');
  picture.draw(lines('second'));
  expect(written()).toBe('\r\x1b[2A\x1b[Jsecond\n');
});

test('a printed line stays above the picture', () => {
  const { picture, written } = open({ columns: 40, rows: 20 });
  picture.draw(lines('picture'));
  written();
  let before = '';
  picture.above(() => {
    before = written();
  });
  expect(before).toBe('\r\x1b[1A\x1b[J');
  expect(written()).toBe('picture\n');
});

test('at the end the picture is gone and the cursor is back, once', () => {
  const { picture, written } = open({ columns: 40, rows: 20 });
  picture.draw(lines('picture'));
  written();
  picture.close();
  expect(written()).toBe('\r\x1b[1A\x1b[J\x1b[?25h');
  picture.close();
  expect(written()).toBe('');
});
