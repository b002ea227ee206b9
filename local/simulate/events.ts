import type { Account } from '../account/account.ts';
import { autoScalingActs } from '../account/auto-scaling-acts.ts';
import { ec2Api } from '../account/ec2-service.ts';
import type { Stack } from '../stack/deploy.ts';
import type { BuiltFleet } from './build-fleet.ts';
import type { Scenario, ScenarioEvent } from './scenario.ts';

/** Sets the scenario's events on the clock, counted from now. */
export function scheduleEvents(
  account: Account,
  fleet: BuiltFleet,
  scenario: Scenario,
  stack: Stack | undefined,
): void {
  for (const event of scenario.events)
    account.world.clock.after(event.atSeconds * 1000, () => happen(account, fleet, event, stack));
}

function happen(account: Account, fleet: BuiltFleet, event: ScenarioEvent, stack: Stack | undefined): void {
  const instance = fleet.instances[event.instance];
  if (!instance) throw new Error(`the fleet has no instance number ${event.instance}`);
  switch (event.do) {
    case 'terminate-instance':
      account.ec2.terminate(instance.id);
      return;
    case 'release-suppression':
      ec2Api(account.checks).DisableApplicationStatusCheckSuppression({ InstanceIds: [instance.id] });
      return;
    case 'mark-unhealthy':
      autoScalingActs(account.autoScaling).SetInstanceHealth({
        InstanceId: instance.id,
        HealthStatus: 'Unhealthy',
      });
      return;
    case 'stop-execution':
      for (const execution of stack?.executions.all() ?? [])
        if (execution.status === 'RUNNING')
          stack?.executions.stop(execution.arn, 'Operator.Stopped', 'by a person');
  }
}
