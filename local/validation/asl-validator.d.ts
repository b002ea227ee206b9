/** The part of asl-validator (4.0.0, which ships no types) that this folder uses. */
declare module 'asl-validator' {
  interface Fault {
    readonly 'Error code': string;
    readonly Message: string;
  }

  /** Checks a state machine's definition, and writes into it. */
  export default function validate(definition: object): { readonly errors: readonly Fault[] };
}
