/** A process that simulates seeds. */
import '../../clock/lambda-globals.ts';
import { answerTasks } from '../pool.ts';

const { runSeed } = await import('./seed-run.ts');
answerTasks(runSeed);
