/** A line for a shell. */
export const shellLine = (words: readonly string[]): string =>
  words.map(word => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');

/** The words of one call of the AWS CLI. */
export const aws = (
  service: string,
  operation: string,
  options: Readonly<Record<string, string | readonly string[]>>,
) =>
  [
    'aws',
    service,
    operation,
    ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, ...[value].flat()]),
  ] as const;
