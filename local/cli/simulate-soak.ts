import { exitCode } from './command.ts';
import { document } from './format.ts';

export interface SoakRequest {
  readonly hours: number;
  readonly seed: number;
  readonly json: boolean;
}

/** Runs one account for many virtual hours, and tells what is there at the end of each. */
export async function simulateSoak({ hours, seed, json }: SoakRequest): Promise<number> {
  const { hasGrown, soak } = await import('../simulate/soak.ts');
  const print = (line: string) => {
    if (!json) process.stdout.write(`${line}\n`);
  };
  print('hour  heap MB  claims  running  suppressed  deployment');
  const soaked = await soak(hours, seed, ({ hour, heapMegabytes, claimed, running, suppressed, outcome }) => {
    const figures = [
      String(hour).padStart(4),
      heapMegabytes.toFixed(1).padStart(7),
      String(claimed).padStart(6),
      String(running).padStart(7),
      String(suppressed).padStart(10),
    ];
    print(`${figures.join('  ')}  ${outcome}`);
  });
  const grown = hasGrown(soaked.hours);
  if (json) process.stdout.write(document({ ...soaked, grown }));
  for (const { invariant, what } of soaked.violations) print(`Invariant ${invariant} broke: ${what}`);
  print(grown ? 'Memory has grown.' : 'Memory is flat.');
  return soaked.violations.length === 0 && !grown ? exitCode.ok : exitCode.failed;
}
