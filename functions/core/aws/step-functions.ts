import { DescribeExecutionCommand, ListExecutionsCommand, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { AwsFailure } from '../errors.ts';
import { EXECUTIONS_PER_LIST } from '../limits.ts';
import { pages } from './batch.ts';
import { given, send } from './call.ts';
import { stepFunctions } from './clients.ts';

export interface ExecutionFacts {
  /** `RUNNING`, `SUCCEEDED`, `FAILED`, `TIMED_OUT`, `ABORTED` or `PENDING_REDRIVE`. */
  readonly status: string;
  readonly error: string;
  readonly cause: string;
  /** The input as JSON text, as it was given. */
  readonly input: string;
  readonly stoppedAt: Date | undefined;
}

/**
 * Starts an execution of this name; a repeated start of the same one is no second one.
 *
 * @returns `exists` when the name was used: whatever became of it is in the run's record (D12)
 */
export async function startExecution(
  stateMachineArn: string,
  name: string,
  input: unknown,
): Promise<'started' | 'exists'> {
  try {
    await send('states:StartExecution', () =>
      stepFunctions().send(
        new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify(input) }),
      ),
    );
    return 'started';
  } catch (error) {
    if (error instanceof AwsFailure && error.code === 'ExecutionAlreadyExists') return 'exists';
    throw error;
  }
}

/** The ARN that an execution of this machine and name has. */
export const executionArn = (stateMachineArn: string, name: string): string =>
  `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;

/**
 * How an execution stands; undefined when there is none. DescribeExecution is throttled low and eventually consistent: never
 * in a loop (D10).
 */
export async function describeExecution(arn: string): Promise<ExecutionFacts | undefined> {
  const action = 'states:DescribeExecution';
  const answer = await send(action, () =>
    stepFunctions().send(new DescribeExecutionCommand({ executionArn: arn })),
  ).catch((error: unknown) => {
    if (error instanceof AwsFailure && error.code === 'ExecutionDoesNotExist') return undefined;
    throw error;
  });
  return (
    answer && {
      status: given(answer.status, action, 'status'),
      error: answer.error ?? '',
      cause: answer.cause ?? '',
      input: answer.input ?? '{}',
      stoppedAt: answer.stopDate,
    }
  );
}

/** The ARNs of a machine's executions that run, a second or so ago: the listing is eventually consistent. */
export async function runningExecutions(stateMachineArn: string): Promise<ReadonlySet<string>> {
  const action = 'states:ListExecutions';
  const listed = await pages(async nextToken => {
    const command = new ListExecutionsCommand({
      stateMachineArn,
      statusFilter: 'RUNNING',
      maxResults: EXECUTIONS_PER_LIST,
      nextToken,
    });
    const answer = await send(action, () => stepFunctions().send(command));
    return { items: answer.executions, next: answer.nextToken };
  });
  return new Set(listed.map(({ executionArn }) => given(executionArn, action, 'executionArn')));
}
