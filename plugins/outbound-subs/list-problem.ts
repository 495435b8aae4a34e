/** A list cannot be used; the message is a sentence without secrets. */
export class ListProblem extends Error {
  override readonly name = 'ListProblem';
}
