/**
 * Does `work` on every id as soon as it is done on those that the id comes after, independent ones at the same time. After a
 * failure nothing further is begun, and what has begun is waited for: so does CloudFormation.
 *
 * @param ids without circles
 * @throws the first error
 */
export async function inOrder(
  ids: readonly string[],
  comesAfter: (id: string) => Iterable<string>,
  work: (id: string) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = [];
  const begun = new Map<string, Promise<void>>();
  const begin = (id: string): Promise<void> => {
    const known = begun.get(id);
    if (known) return known;
    const done = doAfter(id).catch((error: unknown) => {
      errors.push(error);
    });
    begun.set(id, done);
    return done;
  };
  const doAfter = async (id: string): Promise<void> => {
    await Promise.all([...comesAfter(id)].filter(other => ids.includes(other)).map(begin));
    if (errors.length === 0) await work(id);
  };
  await Promise.all(ids.map(begin));
  if (errors.length > 0) throw errors[0];
}
