import { UsageError } from './command.ts';

/** The machines that a person starts, by their names in the template. */
const MACHINES = {
  BeforeDeploy: { name: 'before-deploy', variable: 'QUIESCE_BEFORE_DEPLOY' },
  AfterDeploy: { name: 'after-deploy', variable: 'QUIESCE_AFTER_DEPLOY' },
  UndoRun: { name: 'undo-run', variable: 'QUIESCE_UNDO_RUN' },
  RetireCheck: { name: 'retire-check', variable: 'QUIESCE_RETIRE_CHECK' },
  ReconcileAlarms: { name: 'reconcile-alarms', variable: 'QUIESCE_RECONCILE_ALARMS' },
  PromoteCheck: { name: 'promote-check', variable: 'QUIESCE_PROMOTE_CHECK' },
} as const;

export type StartedMachine = keyof typeof MACHINES;

const MACHINE_ARN = /^arn:[^:]+:states:([^:]+):\d{12}:stateMachine:([0-9A-Za-z_-]+)$/;

/** `--machine ARN`, for which a variable of the environment may stand. */
export const machineOption = (machine: StartedMachine) =>
  ({
    type: 'string',
    value: 'ARN',
    about: `The state machine ${MACHINES[machine].name}: the output ${machine}Arn of the stack. The environment variable ${MACHINES[machine].variable} unless given.`,
  }) as const;

/** `--name NAME`, of a machine that may be started again and again. */
export const nameOption = {
  type: 'string',
  value: 'NAME',
  about: "The execution's name; a new one unless given. That of one which was started before joins it.",
} as const;

/** The variables that stand for `--machine`, with what `arnOf` finds. */
export const machineVariables = (arnOf: (machine: string) => string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(MACHINES).map(([machine, { variable }]) => [variable, arnOf(machine)] as const),
  );

/** What `--machine`, or else the environment, names. */
export const namedMachine = (machine: StartedMachine, option: string | undefined): string | undefined =>
  option ?? (process.env[MACHINES[machine].variable] || undefined);

/**
 * The Region is the machine's, whatever the environment says.
 *
 * @throws UsageError when no machine is named, or evidently another one
 */
export function readMachineArn(machine: StartedMachine, option: string | undefined): string {
  const { name, variable } = MACHINES[machine];
  const arn = namedMachine(machine, option);
  if (arn === undefined)
    throw new UsageError(
      `Name the state machine ${name}: --machine ARN, or the environment variable ${variable}.`,
    );
  const [, region, called = ''] = MACHINE_ARN.exec(arn) ?? [];
  if (region === undefined) throw new UsageError(`${arn} is not the ARN of a state machine.`);
  const other = Object.keys(MACHINES).find(one => one !== machine && called.includes(one));
  if (other !== undefined && !called.includes(machine))
    throw new UsageError(`${arn} is ${other}: the stack's output ${machine}Arn is meant.`);
  process.env.AWS_REGION = region;
  return arn;
}
