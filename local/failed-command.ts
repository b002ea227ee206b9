/** Ends a command with the sentence of its error, without a stack: what failed is what the person gave it. */
export function failCommand(error: unknown): void {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
