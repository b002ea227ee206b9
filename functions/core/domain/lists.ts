/** The list kept under a key; empty when there is none. */
export const listAt = <K, V>(lists: ReadonlyMap<K, readonly V[]>, key: K): readonly V[] =>
  lists.get(key) ?? [];
