/* SPDX-License-Identifier: MIT */
#ifndef PROTON_PROTON_HPP
#define PROTON_PROTON_HPP
/* proton.h for C++11 and later: what is begun ends with the block, in whatever way it is left.
 *
 *	proton::session warm("warm_up");
 *	{
 *		proton::scope scope("train_step");
 *		proton::launch launch("matmul");
 *
 *		launch.metric("flops", 2.0 * m * n * k);
 *		launch_matmul(m, n, k);
 *	}
 *	if (warm.finalize() < 0)
 *		std::cerr << warm.error() << "\n";
 *
 * Nothing throws. Objects belong to the thread that made them, but sessions to any. */
#include <proton/proton.h>

namespace proton
{

/* A scope: proton_enter_scope(), proton_exit_scope().
 *   unit    as these
 *   source  as these
 *   errors  as these
 *   thread  the one that made it */
class scope
{
      public:
	explicit scope(const char *name)
	{
		proton_enter_scope(name);
	}
	~scope()
	{
		proton_exit_scope();
	}
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;
};

/* The state of a thread: proton_state_enter(), proton_state_exit(). At its end there is none.
 *   unit    as these
 *   source  as these
 *   errors  as these
 *   thread  the one that made it */
class state
{
      public:
	explicit state(const char *name)
	{
		proton_state_enter(name);
	}
	~state()
	{
		proton_state_exit();
	}
	state(const state &) = delete;
	state &operator=(const state &) = delete;
};

/* What the next launches are: proton_launch_begin(), proton_launch_end(). One at a time.
 *   unit    as these; metric(): as proton_scope_metric() and proton_scope_metric_i64()
 *   source  as these
 *   errors  as these
 *   thread  the one that made it */
class launch
{
      public:
	explicit launch(const char *name)
	{
		proton_launch_begin(name);
	}
	~launch()
	{
		proton_launch_end();
	}
	launch(const launch &) = delete;
	launch &operator=(const launch &) = delete;

	void metric(const char *name, double value)
	{
		proton_scope_metric(name, value);
	}
	void metric(const char *name, int64_t value)
	{
		proton_scope_metric_i64(name, value);
	}
};

/* A session: proton_session_start() and its kin. It is finalized at its end, where it was not before.
 *   unit    as these; id(): the session, or why there is none
 *   source  as these
 *   errors  as these; error(): proton_session_error()
 *   thread  any, one at a time */
class session
{
      public:
	explicit session(const char *name, const proton_session_options *options = 0)
		: id_(proton_session_start(name, options))
	{
	}
	~session()
	{
		if (id_ >= 0)
			proton_session_finalize(id_, 0);
	}
	session(const session &) = delete;
	session &operator=(const session &) = delete;

	int id() const
	{
		return id_;
	}
	int activate()
	{
		return id_ < 0 ? id_ : proton_session_activate(id_);
	}
	int deactivate(bool flush = false)
	{
		return id_ < 0 ? id_ : proton_session_deactivate(id_, flush);
	}
	int finalize(const char *format = 0)
	{
		int status = id_ < 0 ? id_ : proton_session_finalize(id_, format);

		if (status != PROTON_INVALID) /* then it goes on */
			id_ = id_ < 0 ? id_ : PROTON_UNKNOWN;
		return status;
	}
	/* Phases: proton_phase_advance() and its kin. */
	int advance()
	{
		return id_ < 0 ? id_ : proton_phase_advance(id_);
	}
	int is_complete(int phase) const
	{
		return id_ < 0 ? id_ : proton_phase_is_complete(id_, phase);
	}
	int clear(int phase, bool up_to = false)
	{
		return id_ < 0 ? id_ : proton_phase_clear(id_, phase, up_to);
	}
	/* proton_data_free() frees what this gives. */
	int data(int phase, const char *format, char **ret_data, size_t *ret_size) const
	{
		return id_ < 0 ? id_
			       : proton_session_data(id_, phase, format, ret_data, ret_size);
	}
	static const char *error()
	{
		return proton_session_error();
	}

      private:
	int id_;
};

} // namespace proton

#endif
