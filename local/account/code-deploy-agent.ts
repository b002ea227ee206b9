import type { Diagnostics } from '@aws-sdk/client-codedeploy';
import type { DeploymentGroup } from './code-deploy-deployment.ts';

/** An application revision in S3, and the folder where its unpacked bundle is. */
export interface Revision {
  readonly bucket: string;
  readonly key: string;
  readonly eTag: string;
  readonly directory: string;
}

/** What CodeDeploy tells the agent on one instance to do. */
export interface AgentCommand {
  readonly instanceId: string;
  readonly deploymentId: string;
  readonly group: DeploymentGroup;
  readonly lifecycleEvent: string;
  readonly revision: Revision;
}

export type EventOutcome =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly diagnostics: Diagnostics }
  /** The instance went away, so nothing will ever be heard of the event. */
  | { readonly kind: 'lost' };

/** The agents of a fleet, as CodeDeploy reaches them. */
export interface DeploymentAgent {
  perform(command: AgentCommand): Promise<EventOutcome>;
}

export const SUCCEEDED = { kind: 'succeeded' } as const satisfies EventOutcome;

export const unknownError = (message: string) =>
  ({
    kind: 'failed',
    diagnostics: { errorCode: 'UnknownError', scriptName: '', message, logTail: '' },
  }) as const satisfies EventOutcome;
