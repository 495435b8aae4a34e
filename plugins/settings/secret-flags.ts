// Secrets are never shown: the API shows a flag for each, and takes a flag that clears it.

const capital = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
/** `smtpPassword` → `hasSmtpPassword`, in what is shown. */
export const flagOf = (name: string): string => `has${capital(name)}`;
/** `smtpPassword` → `clearSmtpPassword`, in what is sent. */
export const clearOf = (name: string): string => `clear${capital(name)}`;
