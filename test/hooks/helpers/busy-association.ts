import type { Gate } from '../../../local/wire/contract.ts';

/** EC2 does not take the check off the group `web` for the sweep, the first time, and says so in an answer of 200. */
export function busyOnce(): { readonly gate: Gate; readonly refused: () => number } {
  let refused = 0;
  const around: Gate['around'] = async ({ action, caller }, input, perform) => {
    if (caller.name !== 'SweepFunction' || action !== 'DisassociateApplicationStatusCheck' || refused > 0)
      return perform(input);
    refused++;
    const { ApplicationStatusCheckId } = input;
    const AssociationValue = 'aws:autoscaling:groupName=web';
    return { UnsuccessfulResults: [{ ApplicationStatusCheckId, AssociationValue, Reason: 'busy' }] };
  };
  return { gate: { around }, refused: () => refused };
}
