import { invalidValue } from './ec2-request.ts';

/** SDK: StatusCodeMatcher holds at most 64 characters. */
const MOST_CHARACTERS = 64;

export type StatusCodeTest = (statusCode: number) => boolean;

/**
 * Reads a StatusCodeMatcher: codes and ranges of codes with commas between them, such as `200,202,300-399`.
 *
 * @throws ServiceError InvalidParameterValue
 */
export function parseStatusCodeMatcher(text: string): StatusCodeTest {
  if (text.length > MOST_CHARACTERS)
    throw invalidValue(`StatusCodeMatcher must not be longer than ${MOST_CHARACTERS} characters.`);
  const ranges = text.split(',').map(part => {
    const [, from, to] = /^(\d{3})(?:-(\d{3}))?$/.exec(part) ?? [];
    const range = { from: Number(from), to: Number(to ?? from) };
    if (from === undefined || (to !== undefined && range.from >= range.to))
      throw invalidValue(`StatusCodeMatcher '${text}' is invalid at '${part}'.`);
    return range;
  });
  return statusCode => ranges.some(({ from, to }) => statusCode >= from && statusCode <= to);
}
