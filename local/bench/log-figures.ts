import { spawn } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { readHealthCheckLine } from '../../functions/core/domain/health-check-line.ts';
import { HealthCheckSummary } from '../../functions/core/domain/health-check-summary.ts';
import { decompress } from '../../functions/core/logs/decompress.ts';
import { linesOf } from '../../functions/core/logs/lines.ts';
import { type Figure, shown } from './figures.ts';

/** Of gzip and wc, which do nothing with a line but count it. */
const TIMES = 4;
/** More than it takes while it reads a tenth of the lines, in MB: the collector's own to and fro. */
const FLAT_MEGABYTES = 64;

/**
 * How fast a health check log is read, beside `gzip -dc | wc -l` on the same file, and whether memory stays flat meanwhile.
 *
 * @param lines - one line in a thousand is a bad one
 */
export async function logFigures(lines: number): Promise<Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), 'logs-'));
  const file = join(directory, 'health_check.log.gz');
  try {
    await pipeline(Readable.from(writing(lines)), createGzip({ level: 6 }), createWriteStream(file));
    const bound = await secondsOf(() => countByTools(file));
    const read = await readWhole(file, lines);
    return [
      shown('lines', lines),
      shown('compressed', (await stat(file)).size / 1024 ** 2, 'MB'),
      shown('lines a second, read', lines / read.seconds),
      shown('lines a second, gzip -dc | wc -l', lines / bound),
      {
        ...shown('time', read.seconds, 's', 'bound: gzip -dc | wc -l'),
        bound,
        ratio: read.seconds / bound,
        goal: { of: 'ratio', atMost: TIMES },
      },
      {
        ...shown('memory grows by', read.grownMegabytes, 'MB'),
        goal: { of: 'measured', atMost: FLAT_MEGABYTES },
      },
    ];
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** A thousand targets that are checked in turn; every fiftieth fails. */
function* writing(lines: number): Generator<string> {
  const began = Date.UTC(2026, 10, 30, 9);
  let some: string[] = [];
  for (let n = 0; n < lines; n++) {
    const target = n % 1000;
    const at = `${new Date(began + n).toISOString().slice(0, -1)}${String(n % 1000).padStart(3, '0')}Z`;
    const to = `10.0.${target >> 8}.${target & 255}:8080 web-${target % 4}`;
    if (n % 1000 === 999) some.push('no line of a log');
    else if (target % 50 === 0) some.push(`http ${at} 5.000${(n * 7919) % 1e6} ${to} FAIL - TimedOut`);
    else some.push(`http ${at} 0.0${(n * 7919) % 1e8} ${to} PASS 200 -`);
    if (some.length < 1000) continue;
    yield `${some.join('\n')}\n`;
    some = [];
  }
  yield some.map(line => `${line}\n`).join('');
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

function countByTools(file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const tools = spawn('sh', ['-c', 'gzip -dc "$0" | wc -l', file], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    tools.on('error', reject);
    tools.on('close', code => (code === 0 ? resolve() : reject(new Error(`gzip ended with ${code}`))));
  });
}

/** As the function reads it; the memory is that of the whole process. @throws Error when a line is missing */
async function readWhole(
  file: string,
  lines: number,
): Promise<{ readonly seconds: number; readonly grownMegabytes: number }> {
  const summary = new HealthCheckSummary();
  let early = 0;
  let most = 0;
  const seconds = await secondsOf(() =>
    decompress(createReadStream(file), async bytes => {
      for await (const some of linesOf(bytes)) {
        for (const line of some) summary.add(readHealthCheckLine(line));
        const rss = process.memoryUsage.rss();
        if (summary.lines * 10 < lines) early = Math.max(early, rss);
        most = Math.max(most, rss);
      }
    }),
  );
  if (summary.lines !== lines) throw new Error(`${summary.lines} of ${lines} lines were read`);
  return { seconds, grownMegabytes: (most - early) / 1024 ** 2 };
}
