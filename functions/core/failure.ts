/** Why a run ended: an error's name, and a sentence. */
export interface Failure {
  readonly error: string;
  readonly cause: string;
}

/** A Lambda function's error arrives as JSON in the cause: a person reads its sentence (SFN puts at most 32,768 characters). */
export function readable({ error, cause }: Failure): Failure {
  try {
    const read: unknown = JSON.parse(cause);
    if (read && typeof read === 'object' && 'errorMessage' in read && typeof read.errorMessage === 'string')
      return { error, cause: read.errorMessage };
  } catch {
    // Not JSON: already a sentence.
  }
  return { error, cause };
}
