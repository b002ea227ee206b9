import type { Outcome } from './check-result.ts';
import { type CheckSettings, type CheckSource, sourcesFor } from './check-settings.ts';
import type { Ec2 } from './ec2.ts';
import type { Instance } from './neighbours.ts';

/** What one checker's request meets; undefined when no path leads from a checker to the instance. */
export function probe(ec2: Ec2, instance: Instance, settings: CheckSettings): Outcome | undefined {
  const sources = sourcesFor(settings, instance);
  if (sources.length === 0) return undefined;
  const timeoutMs = settings.timeoutSeconds * 1000;
  if (!sources.some(source => admits(ec2, instance, settings.port, source)))
    return { code: 'ConnectionTimeout', statusCode: undefined, tookMs: timeoutMs };
  const answer = instance.application.answer({ port: settings.port, path: settings.path });
  switch (answer.kind) {
    case 'refuses':
      return { code: 'ConnectionRefused', statusCode: undefined, tookMs: 0 };
    case 'resets':
      return { code: 'ConnectionReset', statusCode: undefined, tookMs: 0 };
    case 'silent':
      return { code: 'ResponseTimeout', statusCode: undefined, tookMs: timeoutMs };
    case 'responds': {
      if (answer.afterMs >= timeoutMs)
        return { code: 'ResponseTimeout', statusCode: undefined, tookMs: timeoutMs };
      const code = settings.accepts(answer.status) ? 'ResponseCodeMatched' : 'ResponseCodeMismatch';
      return { code, statusCode: answer.status, tookMs: answer.afterMs };
    }
  }
}

const admits = (ec2: Ec2, instance: Instance, port: number, source: CheckSource): boolean =>
  ec2.reachable(instance, port, [source.securityGroupId], source.subnetId);
