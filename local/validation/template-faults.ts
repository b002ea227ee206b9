import { CelEngine, TemplateFile } from '@aws/cloudformation-validate';
import type { DeployedTemplate } from '../stack/deployed-template.ts';

/**
 * What cloudformation-validate, which has cfn-lint's rules, finds wrong with a template: warnings and worse.
 *
 * @param deployed - what `readTemplate` makes of it
 */
export function templateFaults(path: string, deployed: Published): readonly string[] {
  const published = publishedBySam(deployed);
  const engine = new CelEngine();
  try {
    const { diagnostics } = engine.validateStandard(new TemplateFile(path), { severityLevel: 'WARN' });
    return diagnostics
      .filter(({ ruleId, message }) => !(ruleId === PATTERN && message.startsWith("''")))
      .filter(({ ruleId, message }) => !(ruleId === LENGTH && message.startsWith('length 0')))
      .filter(({ ruleId, message }) => !(ruleId === HARDCODED_ARN && message.includes("'SourceArn'")))
      .filter(({ ruleId, message }) => !UNKNOWN_REFERENCE.has(ruleId) || !published.has(referenceIn(message)))
      .map(({ ruleId, startLine, message }) => `${ruleId}, line ${startLine ?? 'unknown'}: ${message}`);
  } finally {
    engine.free();
  }
}

type Published = Pick<DeployedTemplate, 'functions' | 'rules'>;

/** Holds the default of a parameter against a pattern, also where `!If` keeps an empty one out: cfn-lint knows better. */
const PATTERN = 'F3031';

/** Likewise against a least length. */
const LENGTH = 'F3033';

/** An ARN that is no reference: alarms that are made at run time are no resources of the template. */
const HARDCODED_ARN = 'W9002';

/** The rules of Ref and Fn::GetAtt. */
const UNKNOWN_REFERENCE: ReadonlySet<string> = new Set(['F1020', 'F6101']);

/** The first name in quotes is the reference. */
const referenceIn = (message: string): string => /'([^']*)'/.exec(message)?.[1] ?? '';

/** What a Ref or GetAtt may name although no such resource is written: SAM makes it. This version of the validator does not know. */
const publishedBySam = ({ functions, rules }: Published): ReadonlySet<string> =>
  new Set([
    ...[...rules.keys()].flatMap(rule => [rule, `${rule}Permission`]),
    ...[...functions.values()].flatMap(({ logicalId, versionArn, aliasArn, url }) => [
      ...(versionArn ? [`${logicalId}.Version`] : []),
      ...(aliasArn ? [`${logicalId}.Alias`] : []),
      ...(url ? [`${logicalId}Url`, `${logicalId}Url.FunctionUrl`] : []),
    ]),
  ]);
