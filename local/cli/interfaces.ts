import { checkInterfaces } from '../../functions/core/aws/network-interfaces.ts';
import { InterfaceUse } from '../../functions/core/domain/check-interfaces.ts';
import { checksInUse } from '../../functions/core/retire/checks-in-use.ts';
import { everyCheckInterface } from '../../functions/core/retire/every-interface.ts';
import { type Command, exitCode, jsonOption, readOptions } from './command.ts';
import { document } from './format.ts';
import { describeInterfaces, reportInterfaces } from './interfaces-report.ts';
import { tableNamed, tableOption, useLedger } from './ledger-table.ts';
import { readOnly } from './reading-only.ts';

const options = {
  table: {
    ...tableOption,
    about:
      "The ledger's table, which has which checks have needed an interface that lingers, and since when it does (docs/retire.md). The environment variable QUIESCE_LEDGER_TABLE unless given; without it that is left out. The stack writes it down with its parameter InterfaceWatch Enabled.",
  },
  json: {
    ...jsonOption,
    about: 'Print one JSON document (InterfacesReport in local/cli/interfaces-report.ts) and nothing else.',
  },
} as const;

export const interfacesCommand: Command = {
  name: 'interfaces',
  about:
    'Lists the interfaces from which AWS asks application status checks, most of which are hidden elsewhere: which checks need each, which linger, and what they cost. It reads only, and can make no other call.',
  options,
  examples: ['quiesce interfaces', 'quiesce interfaces --table quiesce-Ledger-1ABC --json'],
  endsWith: { ok: 'They are listed.', failed: 'They cannot be read.' },
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values } = readOptions('interfaces', options, args);
  readOnly();
  const ledger = tableNamed(values.table);
  if (ledger !== undefined) useLedger(ledger);
  const found =
    ledger === undefined
      ? (await checkInterfaces()).map(one => ({ ...one, known: undefined }))
      : (await everyCheckInterface()).there;
  const report = reportInterfaces(found, new InterfaceUse(await checksInUse()), Date.now());
  process.stdout.write(values.json ? document(report) : describeInterfaces(report));
  return exitCode.ok;
}
