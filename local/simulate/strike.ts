import '../clock/lambda-globals.ts';
import { CallSites, faultsAt } from './call-sites.ts';
import { FaultInjector } from './fault-injector.ts';
import { type Fault, faultLine } from './faults.ts';
import { type PassageName, passages } from './passages.ts';
import { type Simulated, simulate } from './simulation.ts';

/** What a passage without any fault calls. @throws Error when it does not go as it should: then it proves nothing */
export async function callSitesOf(passage: PassageName): Promise<CallSites> {
  const sites = new CallSites();
  const { violations } = await simulate({ scenario: passages[passage], gates: () => [sites.gate] });
  if (violations.length > 0)
    throw new Error(`${passage} breaks invariants without a fault: ${JSON.stringify(violations)}`);
  return sites;
}

/** Which calls of a passage are made to fail. */
export type Extent = 'telling' | 'all';

/** The hooks' own calls, where they are the passage: what their machines and acts call, the bracket has called before. */
const OF_THE_HOOKS = /^(Hook|Settle|LifecycleHook)|Rule$/;

export async function faultsIn(passage: PassageName, extent: Extent): Promise<readonly Fault[]> {
  const sites = (await callSitesOf(passage))[extent];
  switch (passage) {
    case 'bracket':
      return faultsAt(sites);
    case 'undone': {
      const known = new Set(faultsAt((await callSitesOf('bracket'))[extent]).map(faultLine));
      return faultsAt(sites).filter(fault => !known.has(faultLine(fault)));
    }
    case 'hooks':
      return faultsAt(sites.filter(({ caller }) => OF_THE_HOOKS.test(caller)));
  }
}

/** How a passage with one fault has ended. */
export interface Struck {
  readonly passage: PassageName;
  readonly fault: Fault;
  readonly outcome: Simulated['deployment']['outcome'];
  readonly error: string;
  /** What should not be; empty when all is well. */
  readonly wrong: readonly string[];
}

/** Lets a passage meet one fault, and tells what broke by it. */
export async function strike(passage: PassageName, fault: Fault): Promise<Struck> {
  const injector = new FaultInjector(fault);
  const simulated = await simulate({ scenario: passages[passage], ...injector.settings });
  const { outcome, error } = simulated.deployment;
  const wrong = [
    ...(injector.struck ? [] : ['the call was never made']),
    ...simulated.violations.map(({ invariant, what }) => `${invariant}: ${what}`),
  ];
  return { passage, fault, outcome, error, wrong };
}
