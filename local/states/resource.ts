/** What a Task's Resource asks for. */
export type TaskResource = {
  /** The Resource as written. */
  readonly arn: string;
  readonly waitsForToken: boolean;
} & (
  | { readonly kind: 'function' }
  | { readonly kind: 'invoke' }
  | { readonly kind: 'optimized'; readonly service: OptimizedService; readonly action: string }
  | { readonly kind: 'sdk'; readonly service: string; readonly action: string }
);

/** The service integrations, besides Lambda's, that Step Functions shapes itself, each with the one action implemented here. */
const OPTIMIZED = { events: 'putEvents', sns: 'publish', states: 'startExecution' } as const;
export type OptimizedService = keyof typeof OPTIMIZED;

const isOptimized = (service: string): service is OptimizedService => Object.hasOwn(OPTIMIZED, service);

const TOKEN = '.waitForTaskToken';

/** Undefined when the Resource is none of the integrations implemented here. */
export function parseResource(arn: string): TaskResource | undefined {
  if (/^arn:aws[\w-]*:lambda:[\w-]+:\d{12}:function:[\w-]+(:[\w$-]+)?$/.test(arn)) {
    return { kind: 'function', arn, waitsForToken: false };
  }
  const waitsForToken = arn.endsWith(TOKEN);
  const request = waitsForToken ? arn.slice(0, -TOKEN.length) : arn;
  if (/^arn:aws[\w-]*:states:::lambda:invoke$/.test(request)) return { kind: 'invoke', arn, waitsForToken };
  const [, own = '', ownAction = ''] = /^arn:aws[\w-]*:states:::(\w+):(\w+)$/.exec(arn) ?? [];
  if (isOptimized(own) && OPTIMIZED[own] === ownAction)
    return { kind: 'optimized', service: own, action: ownAction, arn, waitsForToken };
  const [, service, action] =
    /^arn:aws[\w-]*:states:::aws-sdk:([a-z0-9]+):([a-zA-Z0-9]+)$/.exec(request) ?? [];
  return service && action ? { kind: 'sdk', service, action, arn, waitsForToken } : undefined;
}
