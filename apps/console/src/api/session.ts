/** Who looks at the console, what they may do, and the token that their acts carry. */
export interface SessionView {
  readonly name: string;
  readonly role: string;
  /** Whether there is a session that can be ended. */
  readonly signedIn: boolean;
  /** The acts that the role allows. */
  readonly acts: readonly string[];
  readonly token: string;
  readonly version: string;
  /** Where the orders API of the demonstration listens, and such; label to URL. */
  readonly links: Readonly<Record<string, string>>;
}
