import type { Command } from './command.ts';

interface Listed {
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** Every subcommand. Each is loaded when it is asked for. */
export const commands: Readonly<Record<string, Listed>> = {
  simulate: {
    summary: 'Deploy in a simulated account, with Quiesce and without, and compare.',
    load: async () => (await import('./simulate.ts')).simulateCommand,
  },
  serve: {
    summary: 'Serve a simulated account on a port, for the AWS CLI and every SDK.',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  plan: {
    summary: 'Show what a run would do to a fleet, reading only.',
    load: async () => (await import('./plan.ts')).planCommand,
  },
  diagnose: {
    summary: 'Say what is wrong with a fleet and where to look, reading only.',
    load: async () => (await import('./diagnose.ts')).diagnoseCommand,
  },
  before: {
    summary: 'Bring a fleet to its go-ahead, and follow it there.',
    load: async () => (await import('./before.ts')).beforeCommand,
  },
  after: {
    summary: 'Bring a fleet back into service after the deployment.',
    load: async () => (await import('./after.ts')).afterCommand,
  },
  undo: {
    summary: 'End a run and undo what it has done.',
    load: async () => (await import('./undo.ts')).undoCommand,
  },
  adopt: {
    summary: 'Adopt an application status check, with evidence, and follow it.',
    load: async () => (await import('./adopt.ts')).adoptCommand,
  },
  retire: {
    summary: 'Retire an application status check with what it leaves behind, and follow it.',
    load: async () => (await import('./retire.ts')).retireCommand,
  },
  interfaces: {
    summary: 'List the interfaces from which checks are asked, reading only.',
    load: async () => (await import('./interfaces.ts')).interfacesCommand,
  },
  status: {
    summary: 'Show the runs, claims and holds that are in the ledger.',
    load: async () => (await import('./status.ts')).statusCommand,
  },
  report: {
    summary: 'Tell what a run did, when, within which budgets and at what price.',
    load: async () => (await import('./report.ts')).reportCommand,
  },
  alarms: {
    summary: 'Show the alarms on checks, what there should be and what is not monitored, and make it so.',
    load: async () => (await import('./alarms.ts')).alarmsCommand,
  },
  logs: {
    summary: "Switch a load balancer's health check logs on, where Quiesce reads them.",
    load: async () => (await import('./logs.ts')).logsCommand,
  },
  timing: {
    summary: 'Say how long it takes until a failure is found and mended, and what contradicts it.',
    load: async () => (await import('./timing.ts')).timingCommand,
  },
  completion: {
    summary: 'Print the completion script of a shell.',
    load: async () => (await import('./completion.ts')).completionCommand,
  },
};
