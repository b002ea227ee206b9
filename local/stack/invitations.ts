import type { DeployedFunction } from './deployed-template.ts';
import { matchesWildcards } from './wildcards.ts';

/** Does a function's resource policy let a service invoke it, for the very version or alias that `invokedArn` names? */
export function isInvited(
  { arn, invokers }: DeployedFunction,
  invokedArn: string,
  sender: { readonly principal: string; readonly sourceArn: string },
): boolean {
  const qualifier = invokedArn === arn ? undefined : invokedArn.slice(arn.length + 1);
  return invokers.some(
    invoker =>
      invoker.principal === sender.principal &&
      invoker.action === 'lambda:InvokeFunction' &&
      invoker.qualifier === qualifier &&
      (invoker.sourceArn === undefined || matchesWildcards(invoker.sourceArn, sender.sourceArn)),
  );
}
