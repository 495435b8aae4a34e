// Secrets are never shown: beside each stands whether it is set, and what is sent may take it away.

const capital = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
/** `smtpPassword` → `hasSmtpPassword`, in what is shown. */
export const flagOf = (name: string): string => `has${capital(name)}`;
/** `smtpPassword` → `clearSmtpPassword`, in what is sent. */
export const clearOf = (name: string): string => `clear${capital(name)}`;
