// Places in logs that readers watch, as messages and queries write them: `3f9a0c.1234`.

/** After a line, or at the end of a log. Places of another `epoch` cannot be compared. */
export interface LogPlace {
  /** 1 to 64 letters, digits and dashes */
  readonly epoch: string;
  /** grows with each line */
  readonly at: number;
}
/** The text of a place, as a schema takes it. */
export const PLACE_FORM = /^([\w-]{1,64})\.(-?\d{1,15})$/;

export const textOfPlace = ({ epoch, at }: LogPlace): string => `${epoch}.${at}`;
/** Undefined for a text that is no place. */
export function placeIn(text: string): LogPlace | undefined {
  const [, epoch, at] = PLACE_FORM.exec(text) ?? [];
  return epoch === undefined ? undefined : { epoch, at: Number(at) };
}
