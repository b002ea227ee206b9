import { DescribeStateMachineCommand } from '@aws-sdk/client-sfn';
import { z } from 'zod';
import { given, send } from '../../functions/core/aws/call.ts';
import { stepFunctions } from '../../functions/core/aws/clients.ts';
import { UsageError } from './command.ts';
import { machineOption, namedMachine, readMachineArn } from './machine-option.ts';

/** What a stack adds to every request, by its own parameters. */
export interface StackDefaults {
  readonly machineArn: string;
  readonly optInTagValue: string;
  /** The parameter DefaultPolicy, as JSON text. */
  readonly defaultPolicy: string;
}

export const beforeDeployOption = {
  ...machineOption('BeforeDeploy'),
  about: `${machineOption('BeforeDeploy').about} Its DefaultPolicy and OptInTagValue are used then.`,
} as const;

/**
 * Reads the parameters from the definition of before-deploy, which carries them. Undefined when no machine is named.
 *
 * @throws UsageError when it is another machine
 */
export async function stackDefaults(option: string | undefined): Promise<StackDefaults | undefined> {
  if (namedMachine('BeforeDeploy', option) === undefined) return undefined;
  const machineArn = readMachineArn('BeforeDeploy', option);
  const action = 'states:DescribeStateMachine';
  const { definition } = await send(action, () =>
    stepFunctions().send(new DescribeStateMachineCommand({ stateMachineArn: machineArn })),
  );
  const read = beforeDeploy.safeParse(JSON.parse(given(definition, action, 'definition')));
  if (!read.success) throw new UsageError(`${machineArn} is not before-deploy of Quiesce.`);
  const [branch] = read.data.States.Bracket.Branches;
  const { optInTagValue, defaultPolicy } = branch.States.Plan.Arguments.Payload;
  return { machineArn, optInTagValue, defaultPolicy };
}

/** As template.yaml substitutes it: text, in base64. */
const inBase64 = z
  .string()
  .transform(text => /\$base64decode\('([^']*)'\)/.exec(text)?.[1] ?? '')
  .transform(encoded => Buffer.from(encoded, 'base64').toString('utf8'));

const payload = z.object({ optInTagValue: z.string(), defaultPolicy: inBase64 });
const plan = z.object({ Plan: z.object({ Arguments: z.object({ Payload: payload }) }) });
const beforeDeploy = z.object({
  States: z.object({ Bracket: z.object({ Branches: z.tuple([z.object({ States: plan })]) }) }),
});
