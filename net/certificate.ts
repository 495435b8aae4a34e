// The certificate of a listener. The program around the kernel decides where it comes from.
export interface Certificate {
  /** PEM */
  readonly pem: { readonly cert: string; readonly key: string };
  readonly validTo: string;
  /** Resolves with true when the certificate has changed. An invalid one changes nothing and rejects. */
  readAgain(): Promise<boolean>;
}
