/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A unit of templates, with much more debug information than code and three levels of inlining
 * everywhere. names.py links it a hundred times into one program, so only the entry has external
 * linkage. -DINSTANCES is the number of instances of each template.
 */
namespace
{

volatile long sink;

template <int N, typename T> struct box {
	T value;

	T get(T x) const
	{
		return value * x + N;
	}
};

template <int N, typename T> struct chain {
	chain<N - 1, box<N, T>> *next;
	box<N, T> here;

	T run(T x) const
	{
		return here.get(x) + N;
	}
};

template <typename T> struct chain<0, T> {
	T last;
};

#define INLINED inline __attribute__((always_inline))

template <int N, typename T> INLINED T third(T x)
{
	box<N, T> b = {x};

	return b.get(x) ^ N;
}

template <int N, typename T> INLINED T second(T x)
{
	for (T i = 0; i < (x & 7); i++)
		x += third<N, T>(i);
	return x;
}

template <int N, typename T> INLINED T first(T x)
{
	return x & 1 ? second<N, T>(x) : third<N + 1, T>(x) - second<N, T>(x + 1);
}

template <int N, typename T> __attribute__((noinline)) T work(T x)
{
	T a = first<N, T>(x), b = first<N, T>(a + sink);
	chain<N % 3 + 1, T> c = {nullptr, {b}};

	sink = a;
	return c.run(b);
}

template <int N, typename T> struct all {
	static T run(T x)
	{
		return all<N - 1, T>::run(work<N, T>(x));
	}
};

template <typename T> struct all<0, T> {
	static T run(T x)
	{
		return x;
	}
};

} /* namespace */

extern "C" long entry(long x)
{
	return all<INSTANCES, long>::run(x) + all<INSTANCES, int>::run((int)x) +
	       all<INSTANCES, unsigned>::run((unsigned)x) + all<INSTANCES, short>::run((short)x);
}
