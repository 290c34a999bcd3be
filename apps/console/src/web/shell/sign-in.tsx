import { useState, type FormEvent } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { ApiError, signIn } from "../api/client.ts";
import { Failure } from "../furniture/notice.tsx";
import { Brand } from "./navigation.tsx";

/** Where people have to say who they are before they see anything. */
export function SignIn() {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [error, setError] = useState<ApiError>();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    signIn(name, password).then(
      () => client.resetQueries(),
      (cause: unknown) => setError(cause instanceof ApiError ? cause : undefined),
    );
  };
  return (
    <main className="sign-in">
      <form className="card" onSubmit={submit}>
        <Brand />
        <h1>Sign in</h1>
        <label className="field">
          <span>Name</span>
          <input
            className="input"
            autoComplete="username"
            required
            autoFocus
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <label className="field">
          <span>Password</span>
          <input
            className="input"
            type="password"
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </label>
        {error && <Failure error={error} />}
        <button className="button" data-kind="primary">
          Sign in
        </button>
      </form>
    </main>
  );
}
