import { dynamoDb } from '../../functions/core/aws/clients.ts';
import { UsageError } from './command.ts';

export const tableOption = {
  type: 'string',
  value: 'NAME',
  about:
    "The ledger's table: the output LedgerTable of the stack. The environment variable QUIESCE_LEDGER_TABLE unless given.",
} as const;

export const tableNamed = (given: string | undefined): string | undefined =>
  given ?? (process.env.QUIESCE_LEDGER_TABLE || undefined);

/** The ledger's own modules read this table from here on, as the functions do. */
export function useLedger(table: string): void {
  process.env.LEDGER_TABLE = table;
}

/**
 * @returns the table's name
 * @throws UsageError when no table is named
 */
export function requireLedger(given: string | undefined): string {
  const table = tableNamed(given);
  if (table === undefined)
    throw new UsageError('Name the ledger: --table, or the environment variable QUIESCE_LEDGER_TABLE.');
  useLedger(table);
  return table;
}

/** Where Quiesce is not deployed there is no table: its ledger is read as empty, and no call is made for it. */
export function useEmptyLedger(): void {
  useLedger('(none)');
  dynamoDb().middlewareStack.add(
    (_next, { commandName }) =>
      async () => {
        const output = { $metadata: {} };
        if (commandName === 'GetItemCommand') return { output, response: undefined };
        if (commandName === 'BatchGetItemCommand')
          return { output: { ...output, Responses: {} }, response: undefined };
        throw new Error(`${commandName} needs a ledger, and there is none.`);
      },
    { step: 'initialize', name: 'emptyLedger' },
  );
}
