/** A process that lets passages meet faults. */
import '../clock/lambda-globals.ts';
import { answerTasks } from './pool.ts';

const { strike } = await import('./strike.ts');
answerTasks(strike);
