import '../../clock/lambda-globals.ts';
import type { SeedTask } from './seed-run.ts';

/** A process that simulates the seeds which its parent sends, one after the other, until the parent disconnects. */
const { runSeed } = await import('./seed-run.ts');
process.on('message', (task: SeedTask) => {
  runSeed(task).then(result => process.send?.(result));
});
process.send?.('ready');
