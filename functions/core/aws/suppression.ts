import { createHash } from 'node:crypto';
import {
  DisableApplicationStatusCheckSuppressionCommand,
  EnableApplicationStatusCheckSuppressionCommand,
  type SuccessfulSuppressionResponseObject,
  type UnsuccessfulSuppressionResponseObject,
} from '@aws-sdk/client-ec2';
import { AccessDenied, AwsFailure } from '../errors.ts';
import { OPT_IN_TAG_KEY } from '../settings.ts';
import { isolating } from './batch.ts';
import { isNotFound, send } from './call.ts';
import { ec2 } from './clients.ts';
import { describeInstances } from './instances.ts';

/** `done` means that EC2 accepted it, not that it holds: that takes about three minutes, and is observed. */
export interface SuppressionOutcome {
  readonly done: { readonly instanceId: string; readonly resumesAt?: Date }[];
  readonly failed: { readonly instanceId: string; readonly reason: string }[];
  /** Neither done nor failed, as where EC2 ignores a repeated call: what became of it has to be seen, or asked again. */
  readonly unnamed: string[];
}

/**
 * Suppresses application status checks on at most SUPPRESSION_INSTANCES instances.
 *
 * @param token names the intention: a call that repeats token and ids is the same call to EC2, and does nothing twice
 * @throws Unavailable when the answer was lost or could not be read: the suppression may be on its way
 */
export function enableSuppression(
  ids: readonly string[],
  seconds: number,
  token: string,
): Promise<SuppressionOutcome> {
  const action = 'ec2:EnableApplicationStatusCheckSuppression';
  return suppressing(ids, token, (InstanceIds, ClientToken) => {
    const input = { InstanceIds, DurationSeconds: seconds, ClientToken };
    return send(action, () => ec2().send(new EnableApplicationStatusCheckSuppressionCommand(input)));
  });
}

/** Ends the suppression of at most SUPPRESSION_INSTANCES instances; in all else as `enableSuppression`. */
export function disableSuppression(ids: readonly string[], token: string): Promise<SuppressionOutcome> {
  const action = 'ec2:DisableApplicationStatusCheckSuppression';
  return suppressing(ids, token, (InstanceIds, ClientToken) =>
    send(action, () =>
      ec2().send(new DisableApplicationStatusCheckSuppressionCommand({ InstanceIds, ClientToken })),
    ),
  );
}

interface SuppressionAnswer {
  readonly SuccessfulResults?: SuccessfulSuppressionResponseObject[] | undefined;
  readonly UnsuccessfulResults?: UnsuccessfulSuppressionResponseObject[] | undefined;
}

async function suppressing(
  ids: readonly string[],
  token: string,
  call: (ids: string[], token: string) => Promise<SuppressionAnswer>,
): Promise<SuppressionOutcome> {
  const failed: { instanceId: string; reason: string }[] = [];
  const unnamed: string[] = [];
  const accepted = await isolating(ids, isNotFound, async some => {
    const answer = await isolatingDenied(some, part =>
      unlessInvalid(part, () => call([...part], clientToken(token, part))),
    );
    const reasons = new Map(answer.UnsuccessfulResults?.map(one => [one.InstanceId, one.Reason]));
    const ends = new Map(answer.SuccessfulResults?.map(one => [one.InstanceId, one.ResumeAt]));
    for (const instanceId of some)
      if (reasons.has(instanceId))
        failed.push({ instanceId, reason: reasons.get(instanceId) ?? 'EC2 gives no reason' });
      else if (!ends.has(instanceId)) unnamed.push(instanceId);
    return some
      .filter(instanceId => ends.has(instanceId) && !reasons.has(instanceId))
      .map(instanceId => {
        const resumesAt = ends.get(instanceId);
        return { instanceId, ...(resumesAt !== undefined && { resumesAt }) };
      });
  });
  for (const { item, reason } of accepted.failed) failed.push({ instanceId: item, reason });
  return { done: accepted.done, failed, unnamed };
}

/**
 * IAM permits by the opt-in tag (D19), and denies the whole call for one instance without it. Then those that carry the same
 * value are asked for together: one denied group is an answer for its instances, and none permitted is the denial itself.
 */
async function isolatingDenied(
  ids: readonly string[],
  call: (ids: readonly string[]) => Promise<SuppressionAnswer>,
): Promise<SuppressionAnswer> {
  try {
    return await call(ids);
  } catch (error) {
    if (!(error instanceof AccessDenied) || ids.length === 1) throw error;
    const facts = await describeInstances(ids);
    const alike = Map.groupBy(ids, id => facts.get(id)?.tags[OPT_IN_TAG_KEY]);
    const parts = [...alike.values()];
    const answers: SuppressionAnswer[] = [];
    const denied: UnsuccessfulSuppressionResponseObject[] = [];
    for (const part of parts) {
      try {
        answers.push(await call(part));
      } catch (refused) {
        if (!(refused instanceof AccessDenied)) throw refused;
        denied.push(...part.map(InstanceId => ({ InstanceId, Reason: refused.message })));
      }
    }
    if (answers.length === 0) throw error;
    return {
      SuccessfulResults: answers.flatMap(one => one.SuccessfulResults ?? []),
      UnsuccessfulResults: [...answers.flatMap(one => one.UnsuccessfulResults ?? []), ...denied],
    };
  }
}

/** A duration that EC2 does not take is refused for the whole call: the same answer for each of its instances (D31). */
async function unlessInvalid(
  ids: readonly string[],
  call: () => Promise<SuppressionAnswer>,
): Promise<SuppressionAnswer> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof AwsFailure && error.code.startsWith('InvalidParameter'))) throw error;
    const Reason = error.message;
    return { UnsuccessfulResults: ids.map(InstanceId => ({ InstanceId, Reason })) };
  }
}

/** EC2 ignores a call with a known token whatever its ids are, so the ids are part of the token (at most 64 characters). */
const clientToken = (token: string, ids: readonly string[]): string =>
  createHash('sha256')
    .update([token, ...ids].join(' '))
    .digest('hex');
