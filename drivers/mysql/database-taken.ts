/** Another panel uses the database, or has used it. */
export class DatabaseTaken extends Error {}
