// What a listener asks of a certificate. Where it comes from is the business of the program around the kernel.
export interface Certificate {
  /** PEM */
  readonly pem: { readonly cert: string; readonly key: string };
  readonly validTo: string;
  /** True when there is something new. What cannot be used changes nothing and rejects. */
  readAgain(): Promise<boolean>;
}
