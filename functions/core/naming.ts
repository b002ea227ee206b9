import { createHash } from 'node:crypto';

/** Every name that Quiesce gives, built and read in one place. */

/** The run of one instance in one CodeDeploy deployment. */
export const runOfInstance = (deploymentId: string, instanceId: string): string =>
  `${deploymentId}.${instanceId}`;

/**
 * The name of an execution: the same for the same run and phase, so that a repeated start is no second one (R-IDEMP). At
 * most 80 of the characters 0-9 A-Z a-z - _ (D12): what does not fit is told apart by a digest.
 *
 * @param from what tells one from another of the same run: for `undo` the execution that the run is taken over from
 */
export function executionName(
  phase:
    | 'before'
    | 'after'
    | 'undo'
    | 'adopt'
    | 'end-adoption'
    | 'retire'
    | 'tell'
    | 'resource'
    | 'answer'
    | 'alarms',
  runId: string,
  from?: string,
): string {
  const what = [phase, runId, ...(from === undefined ? [] : [from])].join(' ');
  const digest = createHash('sha256').update(what).digest('hex').slice(0, 16);
  const readable = runId.replace(/[^0-9A-Za-z_-]/g, '-').slice(0, 80 - phase.length - digest.length - 2);
  return `${phase}-${readable}-${digest}`;
}

/** A resource of a stack, as the ledger knows who wants an association: the same in each of its requests. */
export const holderOf = ({
  StackId,
  LogicalResourceId,
}: {
  readonly StackId: string;
  readonly LogicalResourceId: string;
}): string => `${StackId}|${LogicalResourceId}`;
