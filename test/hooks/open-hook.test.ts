// First, so that the functions read virtual time.
import '../../local/clock/lambda-globals.ts';
import { beforeEach, expect, it } from 'vitest';
import { openHook } from '../../functions/core/hooks/open-hook.ts';
import type { Service } from '../../local/wire/contract.ts';
import { createLedger, type LedgerWorld } from '../unit/helpers/ledger.ts';
import { CODE_DEPLOY, STEP_FUNCTIONS } from '../unit/helpers/services.ts';

/** What CodeDeploy shows in progress, from one question to the next; the last of it stays. */
let shown: string[] = [];
/** The calls that change something, in order. */
const acts: string[] = [];

const services: readonly Service[] = [
  {
    ...STEP_FUNCTIONS,
    operations: {
      StartExecution: () => ({ executionArn: 'started', startDate: new Date(0) }),
    },
  },
  {
    ...CODE_DEPLOY,
    operations: {
      ListDeploymentTargets: () => ({ targetIds: ['cluster:service'] }),
      GetDeploymentTarget() {
        const [lifecycleEventName] = shown.length > 1 ? shown.splice(0, 1) : shown;
        return {
          deploymentTarget: {
            deploymentTargetType: 'ECSTarget',
            ecsTarget: { lifecycleEvents: [{ lifecycleEventName, status: 'InProgress' }] },
          },
        };
      },
    },
  },
];

let ledger: LedgerWorld;
beforeEach(async () => {
  Object.assign(process.env, {
    BEFORE_DEPLOY_ARN: 'arn:aws:states:eu-west-1:111122223333:stateMachine:before',
    AFTER_DEPLOY_ARN: 'arn:aws:states:eu-west-1:111122223333:stateMachine:after',
    HOOK_FLEET: '{"autoScalingGroupName":"web"}',
    HOOK_POLICY: '{}',
  });
  const before = ({ action }: { readonly action: string }) => {
    if (/^(Update|Delete|Start|Put)/.test(action)) acts.push(action);
  };
  ledger = await createLedger(services, [{ before }]);
  acts.length = 0;
});

const open = () =>
  ledger.as(() => openHook({ DeploymentId: 'd-TASKS1234', LifecycleEventHookExecutionId: 'h' }));

it('R-UNDO, R-HOOKSTATUS: a hook is on record before what decides it is started', async () => {
  shown = ['BeforeAllowTraffic'];
  expect((await open()).phase).toBe('before');
  expect(acts).toEqual(['UpdateItem', 'StartExecution']);
});

it('R-AGREE: CodeDeploy is believed in two agreeing reads: right after an event has begun it may still show the last', async () => {
  shown = ['BeforeAllowTraffic', 'AfterAllowTraffic'];
  expect((await open()).phase).toBe('after');
});
