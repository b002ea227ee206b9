import { shellLine } from '../../functions/core/domain/aws-cli.ts';
import { type ByHand, closeByHand, type HandledRun } from '../../functions/core/domain/by-hand.ts';
import { STANDBY_INSTANCES, SUPPRESSION_INSTANCES, TARGETS_PER_CALL } from '../../functions/core/limits.ts';

/** The calls that close a run by hand, in the batches that AWS takes. @param now seconds since the epoch */
export const byHand = (run: HandledRun, table: string, now: number): ByHand =>
  closeByHand(
    run,
    table,
    { targets: TARGETS_PER_CALL, suppressions: SUPPRESSION_INSTANCES, standby: STANDBY_INSTANCES },
    now,
  );

/** Lines for a shell: what is done, as a comment, and the calls that do it. */
export function describeByHand(runId: string, { steps, askAgain }: ByHand): string {
  if (steps.length === 0) return `# Nothing of run ${runId} is left.\n`;
  const lines = steps.flatMap(({ say, commands }) => [`# ${say}`, ...commands.map(shellLine), '']);
  const when = `# For when Quiesce itself does not work. While it does, one command is enough: quiesce undo ${runId}\n\n`;
  const again = `# Then ask again: quiesce status ${runId} --by-hand\n`;
  return `${when}${lines.join('\n')}${askAgain ? again : ''}`;
}
