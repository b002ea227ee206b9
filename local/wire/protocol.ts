import type { ServiceError, WireAnswer, WireRequest } from './contract.ts';
import type { InvalidInput, OperationShapes } from './shapes.ts';

/** How one service reads requests and writes answers. */
export interface Protocol {
  /** @throws InvalidInput when the request does not fit the operation's input */
  readInput(operation: OperationShapes, request: WireRequest): Record<string, unknown>;
  answer(operation: OperationShapes, output: object, requestId: string): WireAnswer;
  fault(error: ServiceError, request: WireRequest, requestId: string): WireAnswer;
  readonly invalidInputCodes: Readonly<Record<InvalidInput['problem'], string>>;
  readonly unknownActionCode: string;
}
