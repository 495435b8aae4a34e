/** A text that is not a share link, or one that cannot be read. The message is a sentence about the link ("its port is …") and repeats nothing of it that is secret. */
export class LinkError extends Error {
  override readonly name = 'LinkError';
  /** the part that is wrong: `scheme`, `server`, `port`, `credentials`, `link`, or the name of a parameter */
  readonly part: string;

  constructor(part: string, sentence: string) {
    super(sentence);
    this.part = part;
  }
}
