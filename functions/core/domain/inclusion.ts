/** Somebody has included an application status check. */
export interface Inclusion {
  readonly checkId: string;
  /** The ARN of who it was. */
  readonly by: string;
}

/** What CloudTrail records of one call, as far as it matters here. */
export interface RecordedCall {
  readonly userIdentity?:
    | { readonly arn?: string | undefined; readonly type?: string | undefined }
    | undefined;
  readonly requestParameters?: unknown;
  /** There is one when the call was refused. */
  readonly errorCode?: string | undefined;
}

/**
 * Who has included which check by a ModifyApplicationStatusCheck; undefined when nobody has. How CloudTrail writes the request
 * of this action is not documented (of some EC2 actions inside another object, and with either case), so names are looked for
 * wherever they are.
 */
export function inclusionIn({
  userIdentity,
  requestParameters,
  errorCode,
}: RecordedCall): Inclusion | undefined {
  if (errorCode !== undefined) return undefined;
  const members = new Map(membersOf(requestParameters));
  const checkId = members.get('applicationstatuscheckid');
  if (checkId === undefined || members.get('aggregation') !== 'included') return undefined;
  return { checkId, by: userIdentity?.arn ?? userIdentity?.type ?? 'somebody' };
}

/** Every text in it, by the lower-case name of its member. */
function membersOf(value: unknown): [name: string, text: string][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]): [string, string][] =>
    typeof member === 'string' ? [[name.toLowerCase(), member]] : membersOf(member),
  );
}
