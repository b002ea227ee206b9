/**
 * `npm run bench`: one run over 1,000 instances, measured against what AWS itself allows. Other sizes can be named
 * (`npm run bench -- 1000 5000`). `--hooks` measures as many runs of one instance each instead, all at once through CodeDeploy
 * (`npm run bench -- --hooks 500` takes some ten minutes), `--bundles` the functions' bundles, `--logs` how a health check log of
 * five million lines is read, and `--alarms` how the alarms of groups of 125, 250, 500 and 5,000 instances are made. `--json` prints the figures as data. The exit code is 1 when a goal is missed.
 */
import { parseArgs } from 'node:util';
import { bundleFigures } from './bench/bundle-figures.ts';
import { meets } from './bench/figures.ts';
import { logFigures } from './bench/log-figures.ts';
import { measureAlarms } from './bench/measure-alarms.ts';
import { measureHooks } from './bench/measure-hooks.ts';
import { type BenchResult, measureRun } from './bench/measure-run.ts';
import { benchTable, figureTable } from './bench/table.ts';

const SIZES = ['1000'];
/** Growth shows in the first three; the last is watched check by check. */
const ALARM_SIZES = ['125', '250', '500', '5000'];
const LOG_LINES = 5_000_000;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      bundles: { type: 'boolean', default: false },
      hooks: { type: 'boolean', default: false },
      alarms: { type: 'boolean', default: false },
      logs: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  if (values.bundles || values.logs) {
    const figures = values.bundles ? await bundleFigures() : await logFigures(LOG_LINES);
    const of = values.bundles ? 'the bundle of' : 'a health check log';
    const table = () => figureTable(of, [{ title: 'measured', figures }]);
    console.log(values.json ? JSON.stringify(figures, null, 2) : table());
    if (!figures.every(meets)) process.exitCode = 1;
    return;
  }
  const results: BenchResult[] = [];
  const measure = values.alarms ? measureAlarms : values.hooks ? measureHooks : measureRun;
  for (const size of positionals.length > 0 ? positionals : values.alarms ? ALARM_SIZES : SIZES) {
    if (!/^[1-9]\d*$/.test(size)) throw new Error(`'${size}' is not a number of instances.`);
    results.push(await measure(Number(size)));
  }
  console.log(
    values.json
      ? JSON.stringify(results, null, 2)
      : benchTable(results, values.alarms ? 'alarms of' : 'one run of'),
  );
  if (!results.every(({ figures }) => figures.every(meets))) process.exitCode = 1;
}

main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 2;
});
